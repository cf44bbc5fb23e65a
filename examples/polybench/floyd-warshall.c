/* The shortest ways between all pairs of nodes, in place: by way of node 0, of nodes 0 and 1, and so on. */

void floyd_warshall(int n, int way[restrict n][n])
{
#pragma scop
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                way[i][j] = way[i][j] < way[i][k] + way[k][j] ? way[i][j] : way[i][k] + way[k][j];
#pragma endscop
}
