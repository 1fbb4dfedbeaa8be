/* The least a program can do with an event: read standard input to its end and leave.
 * What the hook takes on top of this is the hook's own. */
#include <unistd.h>

int main(void) {
    static char chunk[1 << 14];
    while (read(0, chunk, sizeof chunk) > 0) {
    }
    return 0;
}
