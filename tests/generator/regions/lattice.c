/* A step of a lattice Boltzmann method (nine velocities in a plane): densities come from the neighbours and
   relax towards what the local density and velocity make of them. */

void lattice(int nx, int ny, double omega, double f[restrict 9][nx][ny], double g[restrict 9][nx][ny])
{
#pragma scop
    for (int x = 1; x < nx - 1; x++)
        for (int y = 1; y < ny - 1; y++) {
            double f0 = f[0][x][y], f1 = f[1][x - 1][y], f2 = f[2][x + 1][y];
            double f3 = f[3][x][y - 1], f4 = f[4][x][y + 1], f5 = f[5][x - 1][y - 1];
            double f6 = f[6][x + 1][y + 1], f7 = f[7][x + 1][y - 1], f8 = f[8][x - 1][y + 1];
            double rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8;
            double ux = (f1 - f2 + f5 - f6 - f7 + f8) / rho;
            double uy = (f3 - f4 + f5 - f6 + f7 - f8) / rho;
            double rest = 1.0 - 1.5 * (ux * ux + uy * uy), p = ux + uy, m = uy - ux;
            g[0][x][y] = f0 + omega * (4.0 / 9.0 * rho * rest - f0);
            g[1][x][y] = f1 + omega * (1.0 / 9.0 * rho * (rest + 3.0 * ux + 4.5 * ux * ux) - f1);
            g[2][x][y] = f2 + omega * (1.0 / 9.0 * rho * (rest - 3.0 * ux + 4.5 * ux * ux) - f2);
            g[3][x][y] = f3 + omega * (1.0 / 9.0 * rho * (rest + 3.0 * uy + 4.5 * uy * uy) - f3);
            g[4][x][y] = f4 + omega * (1.0 / 9.0 * rho * (rest - 3.0 * uy + 4.5 * uy * uy) - f4);
            g[5][x][y] = f5 + omega * (1.0 / 36.0 * rho * (rest + 3.0 * p + 4.5 * p * p) - f5);
            g[6][x][y] = f6 + omega * (1.0 / 36.0 * rho * (rest - 3.0 * p + 4.5 * p * p) - f6);
            g[7][x][y] = f7 + omega * (1.0 / 36.0 * rho * (rest + 3.0 * m + 4.5 * m * m) - f7);
            g[8][x][y] = f8 + omega * (1.0 / 36.0 * rho * (rest - 3.0 * m + 4.5 * m * m) - f8);
        }
#pragma endscop
}
