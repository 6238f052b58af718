/* Measures MPI_Alltoallv with equal blocks between all ranks. alltoallv BYTES ITERATIONS prints
 * the median over iterations, in seconds, of the time from a barrier until the last rank has all
 * data. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int block = argc == 3 ? atoi(argv[1]) : 0, iterations = argc == 3 ? atoi(argv[2]) : 0;
    if (block < 1 || iterations < 1) {
        if (rank == 0) fprintf(stderr, "usage: alltoallv BYTES ITERATIONS\n");
        MPI_Finalize();
        return 2;
    }
    char *from = malloc((size_t)block * ranks), *to = malloc((size_t)block * ranks);
    int *counts = malloc(sizeof *counts * ranks), *places = malloc(sizeof *places * ranks);
    double *took = malloc(sizeof *took * iterations);
    if (!from || !to || !counts || !places || !took) MPI_Abort(MPI_COMM_WORLD, 1);
    memset(from, rank + 1, (size_t)block * ranks);
    memset(to, 0, (size_t)block * ranks);
    for (int i = 0; i < ranks; i++) {
        counts[i] = block;
        places[i] = i * block;
    }
    const int warmup = 10;
    for (int i = -warmup; i < iterations; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        MPI_Alltoallv(from, counts, places, MPI_BYTE, to, counts, places, MPI_BYTE, MPI_COMM_WORLD);
        double mine = MPI_Wtime() - start, slowest;
        MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (i >= 0) took[i] = slowest;
    }
    for (int i = 0; i < ranks; i++)
        for (int k = 0; k < block; k++)
            if (to[(size_t)i * block + k] != (char)(i + 1)) {
                fprintf(stderr, "rank %d: byte %d of rank %d is wrong\n", rank, k, i);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
    if (rank == 0) {
        qsort(took, iterations, sizeof *took, ascending);
        printf("%.9f\n", took[iterations / 2]);
    }
    MPI_Finalize();
    return 0;
}
