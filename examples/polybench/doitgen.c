/* A matrix applied to the last index of a tensor, in place:  A[r][q][:] := A[r][q][:] C4. */

void doitgen(int nr, int nq, int np, double A[restrict nr][nq][np], double C4[restrict np][np],
             double row[restrict np])
{
#pragma scop
    for (int r = 0; r < nr; r++)
        for (int q = 0; q < nq; q++) {
            for (int p = 0; p < np; p++) {
                row[p] = 0.0;
                for (int s = 0; s < np; s++)
                    row[p] += A[r][q][s] * C4[s][p];
            }
            for (int p = 0; p < np; p++)
                A[r][q][p] = row[p];
        }
#pragma endscop
}
