/* Members of one structure, behind a pointer, by value and global. */
struct grid { int n; double *u; double (*v)[40]; double w[40]; double s; };
void f1(struct grid *g, int n) {
#pragma scop
  for (int i = 0; i < n; i++) g->u[i] = g->u[i] * 2.0 + g->w[3];
  g->s = 4.0;
#pragma endscop
}
void f2(struct grid g, int n) {
#pragma scop
  for (int i = 0; i < n; i++) g.u[i] = g.u[i] * g.s + i;
#pragma endscop
}
struct grid gg;
void f3(int n) {
#pragma scop
  for (int i = 0; i < gg.n; i++) gg.w[i] = gg.w[i] * 2.0 + gg.s;
#pragma endscop
}
void f4(struct grid *g, int n) {
#pragma scop
  for (int i = 0; i < n; i++) (*g).u[i] = (*g).u[i] * 2.0 + (*g).w[3];
#pragma endscop
}
