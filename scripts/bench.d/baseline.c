/* The least a program can do with an event: read standard input to its end and leave, without a library. What the hook takes
 * on top of this is the hook's own. With -D_start=main the same is started by a C library. */
#include <sys/syscall.h>

static long call(long number, long first, void *second, long third) {
#ifdef __x86_64__
    __asm__ volatile("syscall" : "+a"(number) : "D"(first), "S"(second), "d"(third) : "rcx", "r11", "memory");
    return number;
#else
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = first, x2 __asm__("x2") = third;
    register void *x1 __asm__("x1") = second;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
#endif
}

void _start(void) {
    static char chunk[1 << 14];
    while (call(SYS_read, 0, chunk, sizeof chunk) > 0) {
    }
    call(SYS_exit_group, 0, 0, 0);
}
