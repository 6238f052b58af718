/* Preloaded into weir: has each rank run under compute-sanitizer, which does not follow processes
 * that Go starts. CHECK_TOOL is the tool, CHECK_LOG the file that it writes, with %p for the
 * process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_ARGUMENTS 64

__attribute__((constructor)) static void check(int argc, char **argv)
{
    const char *tool = getenv("CHECK_TOOL"), *log = getenv("CHECK_LOG");
    char        self[4096], *args[MOST_ARGUMENTS];
    int         n = 0;
    ssize_t     length;
    if (argc < 2 || strcmp(argv[1], "rank") != 0 || !tool || !log || argc > MOST_ARGUMENTS - 8)
        return;
    if ((length = readlink("/proc/self/exe", self, sizeof self - 1)) < 0) {
        perror("/proc/self/exe");
        _exit(2);
    }
    self[length] = 0;
    args[n++]    = "compute-sanitizer";
    args[n++]    = "--tool";
    args[n++]    = strdup(tool);
    args[n++]    = "--log-file";
    args[n++]    = strdup(log);
    args[n++]    = self;
    for (int i = 1; i < argc; i++)
        args[n++] = argv[i];
    args[n] = NULL;
    unsetenv("LD_PRELOAD"); /* the rank itself is not started again */
    execvp(args[0], args);
    perror(args[0]);
    _exit(2);
}
