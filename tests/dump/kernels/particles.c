/* Members of structures, subscripts that are data, a condition, and a variable of each iteration. */
struct particle {
    double place, speed;
};

void push(int n, double step, struct particle all[restrict n], const int cell[restrict n],
          const double field[restrict 64])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double force = field[cell[i]] * step;
        if (force > 0.0)
            all[i].speed += force;
        all[i].place += all[i].speed * step;
    }
#pragma endscop
}
