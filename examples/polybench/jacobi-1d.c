/* Jacobi sweeps over a line with fixed ends; every step sweeps twice, A to B and back. */

void jacobi_1d(int steps, int n, double A[restrict n], double B[restrict n])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
        for (int i = 1; i < n - 1; i++)
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
    }
#pragma endscop
}
