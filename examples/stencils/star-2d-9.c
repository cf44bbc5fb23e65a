/* A step of a star of nine points in the plane, two to each side. */

#ifndef N
#define N 2048
#endif

void star_2d_9(float out[restrict N][N], const float in[restrict N + 4][N + 4])
{
#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            out[i][j] = 0.1f * in[i + 2][j + 2] + 0.2f * in[i + 2][j + 1] + 0.3f * in[i + 2][j]
                        + 0.4f * in[i + 2][j + 3] + 0.5f * in[i + 2][j + 4] + 0.4f * in[i + 1][j + 2]
                        + 0.3f * in[i][j + 2] + 0.2f * in[i + 3][j + 2] + 0.1f * in[i + 4][j + 2];
#pragma endscop
}
