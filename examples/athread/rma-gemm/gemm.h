#ifndef GEMM_H
#define GEMM_H
#define MESH 8
#define TILE 32
#define N (MESH * TILE)
struct gemm {
    double *a, *b, *c;
};
#endif
