/* Runs a loop of many short iterations and prints what each hundred of them cost.
 *
 *   hundreds LINE AGENT PROGRAM [ARGUMENT]...
 *
 * LINE is how the line on standard output begins that ends an iteration; AGENT is what the program starts in
 * each. Lines with tabs between, times in microseconds, memory in KiB:
 *
 * - the processor time of AGENT when it is started alone, the mean of a hundred times;
 * - for each hundred iterations, a line: the processor time of the program itself, mean and median; that of
 *   all that it has started and waited for, mean; wall time, mean; the program's peak memory so far;
 * - the peak memory of the largest process, and the exit code of the program.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HUNDRED = 100 };

extern char **environ;

static void give_up(const char *what) {
    fprintf(stderr, "hundreds: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double seconds(clockid_t clock) {
    struct timespec time;
    if (clock_gettime(clock, &time) != 0) return 0;
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* What the children cost that were waited for: the system counts in hundredths of a second. */
static double of_children(pid_t id) {
    char path[64], text[2048];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)id);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    /* The name in brackets may hold anything; thirteen fields stand between it and the two. */
    char *at = strrchr(text, ')');
    long user = 0, system = 0;
    if (at) sscanf(at + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %ld %ld", &user, &system);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static long peak_of(pid_t id) {
    char path[64], line[256];
    long peak = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)id);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) sscanf(line, "VmHWM: %ld", &peak);
    if (file) fclose(file);
    return peak;
}

static double of_agent(char *path) {
    char *words[] = {path, NULL};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    for (int time = 0; time < HUNDRED; time++) {
        pid_t id;
        errno = posix_spawn(&id, path, &files, NULL, words, environ);
        if (errno != 0) give_up(path);
        if (waitpid(id, NULL, 0) != id) give_up("waitpid");
    }
    struct rusage used;
    if (getrusage(RUSAGE_CHILDREN, &used) != 0) give_up("getrusage");
    double user = (double)used.ru_utime.tv_sec * 1e6 + (double)used.ru_utime.tv_usec;
    return (user + (double)used.ru_stime.tv_sec * 1e6 + (double)used.ru_stime.tv_usec) / HUNDRED;
}

static int ascending(const void *one, const void *other) {
    double difference = *(const double *)one - *(const double *)other;
    return (difference > 0) - (difference < 0);
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: hundreds LINE AGENT PROGRAM [ARGUMENT]...\n");
        return 1;
    }
    /* Refused to everybody but root; it is measured all the same. */
    (void)!setpriority(PRIO_PROCESS, 0, -20);
    printf("%.0f\n", of_agent(argv[2]));
    int ends[2], status;
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    if (pipe(ends) != 0) give_up("pipe");
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, ends[1], 1);
    posix_spawn_file_actions_addclose(&files, ends[0]);
    posix_spawn_file_actions_addclose(&files, ends[1]);
    pid_t id;
    errno = posix_spawnp(&id, argv[3], &files, NULL, argv + 3, environ);
    if (errno != 0) give_up(argv[3]);
    close(ends[1]);
    clockid_t own_clock;
    errno = clock_getcpuclockid(id, &own_clock);
    if (errno != 0) give_up("its clock");
    FILE *output = fdopen(ends[0], "r");
    char *line = NULL;
    size_t room = 0;
    int iterations = 0;
    double each[HUNDRED], last = 0, own = 0, children = 0, wall = seconds(CLOCK_MONOTONIC);
    while (getline(&line, &room, output) > 0) {
        if (!strstr(line, argv[1])) continue;
        double own_now = seconds(own_clock);
        each[iterations++ % HUNDRED] = own_now - last;
        last = own_now;
        if (iterations % HUNDRED != 0) continue;
        double children_now = of_children(id), now = seconds(CLOCK_MONOTONIC);
        qsort(each, HUNDRED, sizeof *each, ascending);
        printf("%.0f\t%.0f\t%.0f\t%.0f\t%ld\n", (own_now - own) * 1e6 / HUNDRED, each[HUNDRED / 2] * 1e6,
               (children_now - children) * 1e6 / HUNDRED, (now - wall) * 1e6 / HUNDRED, peak_of(id));
        own = own_now, children = children_now, wall = now;
    }
    struct rusage used;
    if (wait4(id, &status, 0, &used) != id) give_up("wait4");
    printf("%ld\t%d\n", used.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return 0;
}
