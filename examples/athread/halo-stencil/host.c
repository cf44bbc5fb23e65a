/* Five-point stencil: each MPI rank has a band of rows and one core group. */
#include <athread.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "stencil.h"

#define ROWS 96 /* of the whole grid, without the border */
#define STEPS 10

extern void SLAVE_FUN(stencil)(struct stencil *);

static void fill(double *grid, int first, int rows)
{
    int i, j;
    for (i = 0; i < rows; i++)
        for (j = 0; j < WIDTH; j++)
            grid[i * WIDTH + j] = (double)(((first + i) * 31 + j * 17) % 101) / 10;
}

static void serial_step(const double *from, double *to, int rows)
{
    int i, j;
    for (i = 1; i <= rows; i++)
        for (j = 1; j < WIDTH - 1; j++)
            to[i * WIDTH + j] = 0.2 * (from[i * WIDTH + j] + from[(i - 1) * WIDTH + j] + from[(i + 1) * WIDTH + j] +
                                       from[i * WIDTH + j - 1] + from[i * WIDTH + j + 1]);
}

/* The rows at either end go to the neighbours; theirs become the border. */
static void exchange(double *grid, int rows, int rank, int ranks)
{
    int above = rank ? rank - 1 : MPI_PROC_NULL, below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(grid + WIDTH, WIDTH, MPI_DOUBLE, above, 0, grid + (rows + 1) * WIDTH, WIDTH, MPI_DOUBLE, below, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(grid + rows * WIDTH, WIDTH, MPI_DOUBLE, below, 1, grid, WIDTH, MPI_DOUBLE, above, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, ranks, rows, step, i, j, wrong = 0, all = 0;
    double *grid[2], *whole[2];
    struct stencil job;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    rows = ROWS / ranks;
    for (i = 0; i < 2; i++) {
        grid[i] = malloc((rows + 2) * WIDTH * sizeof(double));
        whole[i] = malloc((ROWS + 2) * WIDTH * sizeof(double));
        fill(grid[i], rank * rows, rows + 2);
        fill(whole[i], 0, ROWS + 2);
    }
    athread_init();
    for (step = 0; step < STEPS; step++) {
        job.from = grid[step % 2];
        job.to = grid[1 - step % 2];
        job.rows = rows;
        exchange(grid[step % 2], rows, rank, ranks);
        athread_spawn(stencil, &job);
        athread_join();
        serial_step(whole[step % 2], whole[1 - step % 2], ROWS);
    }
    athread_halt();
    for (i = 1; i <= rows; i++)
        for (j = 1; j < WIDTH - 1; j++)
            wrong += grid[STEPS % 2][i * WIDTH + j] != whole[STEPS % 2][(rank * rows + i) * WIDTH + j];
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("stencil on %d ranks: %d wrong\n", ranks, all);
    MPI_Finalize();
    return wrong != 0;
}
