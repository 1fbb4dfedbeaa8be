/* Runs several programs in turns and prints how long each took.
 *
 *   stopwatch ROUNDS EVENT [-r FILE SAVED]... [-x PATH]... -- PROGRAM [-- PROGRAM]...
 *
 * A program is its name and its arguments. Each is started ROUNDS times with EVENT as standard
 * input and its output thrown away, every round in another order, so that whatever else the machine
 * does falls on all of them alike. Before every single run, outside of what is timed, each PATH is
 * removed with all it holds, and each FILE is written anew from SAVED, with its mode and its time: every
 * run starts from the same files.
 *
 * One line for each program, with tabs between: its wall time in microseconds (the tenth and the half
 * of its runs were faster than this), the same two of its time divided by that of the first program
 * in the same round, its peak memory in KiB, and how many runs ended with another code than 0.
 *
 * Where it may (as root), it takes precedence over whatever else runs, for all programs alike.
 */
#define _GNU_SOURCE
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64 };

struct saved {
    const char *path;
    char *bytes;
    size_t length;
    mode_t mode;
    struct timespec times[2];
};

struct program {
    char **words;
    double *times;
    double *ratios;
    long memory;
    int failures;
};

extern char **environ;

static void give_up(const char *what) {
    fprintf(stderr, "stopwatch: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void *room_for(size_t bytes) {
    void *room = malloc(bytes ? bytes : 1);
    if (!room) give_up("memory");
    return room;
}

static struct saved load(const char *path, const char *from) {
    struct stat meta;
    int file = open(from, O_RDONLY);
    if (file < 0 || fstat(file, &meta) != 0) give_up(from);
    struct saved saved = {path, room_for((size_t)meta.st_size), (size_t)meta.st_size, meta.st_mode & 07777, {meta.st_atim, meta.st_mtim}};
    if (read(file, saved.bytes, saved.length) != (ssize_t)saved.length) give_up(from);
    close(file);
    return saved;
}

/* A new file, not the old one emptied: ext4 hurries the disk for the latter, and the program that is
 * timed next would have to wait for what the restoring has begun. */
static void restore(const struct saved *saved) {
    if (unlink(saved->path) != 0 && errno != ENOENT) give_up(saved->path);
    int file = open(saved->path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (file < 0) give_up(saved->path);
    if (write(file, saved->bytes, saved->length) != (ssize_t)saved->length) give_up(saved->path);
    if (fchmod(file, saved->mode) != 0 || futimens(file, saved->times) != 0) give_up(saved->path);
    close(file);
}

static int remove_one(const char *path, const struct stat *meta, int kind, struct FTW *where) {
    (void)meta, (void)kind, (void)where;
    return remove(path);
}

static void take_away(const char *path) {
    if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT) give_up(path);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static double run(struct program *program, const char *event) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, event, O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    pid_t child;
    int status;
    struct rusage used;
    double start = now();
    errno = posix_spawn(&child, program->words[0], &files, NULL, program->words, environ);
    if (errno != 0) give_up(program->words[0]);
    if (wait4(child, &status, 0, &used) != child) give_up("wait4");
    double took = now() - start;
    posix_spawn_file_actions_destroy(&files);
    if (used.ru_maxrss > program->memory) program->memory = used.ru_maxrss;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) program->failures++;
    return took;
}

static int ascending(const void *one, const void *other) {
    double difference = *(const double *)one - *(const double *)other;
    return (difference > 0) - (difference < 0);
}

static void print_tenth_and_half(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, ascending);
    printf("%.3f\t%.3f\t", values[count / 10], values[count / 2]);
}

int main(int argc, char **argv) {
    struct saved saved[MOST];
    const char *paths[MOST];
    struct program programs[MOST];
    int files = 0, taken = 0, count = 0, at = 3;
    int rounds = argc > 3 ? atoi(argv[1]) : 0;
    if (rounds < 1) {
        fprintf(stderr, "usage: stopwatch ROUNDS EVENT [-r FILE SAVED]... [-x PATH]... -- PROGRAM [-- PROGRAM]...\n");
        return 1;
    }
    for (; at < argc && strcmp(argv[at], "--") != 0; at++) {
        if (strcmp(argv[at], "-r") == 0 && at + 2 < argc && files < MOST) {
            saved[files++] = load(argv[at + 1], argv[at + 2]);
            at += 2;
        } else if (strcmp(argv[at], "-x") == 0 && at + 1 < argc && taken < MOST) {
            paths[taken++] = argv[++at];
        } else {
            fprintf(stderr, "stopwatch: too much to put back, or unknown: %s\n", argv[at]);
            return 1;
        }
    }
    for (; at < argc; at++) {
        if (strcmp(argv[at], "--") == 0) {
            argv[at] = NULL;
            if (at + 1 < argc && count < MOST) {
                size_t room = (size_t)rounds * sizeof(double);
                programs[count++] = (struct program){argv + at + 1, room_for(room), room_for(room), 0, 0};
            }
        }
    }
    /* Refused to everybody but root; it is measured all the same. */
    (void)!setpriority(PRIO_PROCESS, 0, -20);
    /* Two rounds more than asked for: the first ones fill the caches and are not counted. */
    for (int round = -2; round < rounds; round++) {
        double took[MOST];
        for (int turn = 0; turn < count; turn++) {
            int which = (turn + round + count) % count;
            for (int path = 0; path < taken; path++) take_away(paths[path]);
            for (int file = 0; file < files; file++) restore(&saved[file]);
            took[which] = run(&programs[which], argv[2]);
        }
        for (int which = 0; which < count && round >= 0; which++) {
            programs[which].times[round] = took[which];
            programs[which].ratios[round] = took[which] / took[0];
        }
    }
    for (int which = 0; which < count; which++) {
        print_tenth_and_half(programs[which].times, rounds);
        print_tenth_and_half(programs[which].ratios, rounds);
        printf("%ld\t%d\n", programs[which].memory, programs[which].failures);
    }
    return 0;
}
