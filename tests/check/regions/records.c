/* Arrays of structures, whose members are rows of numbers. */
struct vec { double x, y, z; };
typedef struct { float re, im; } cplx;
enum { K = 3 };
struct part { int id; double pos[K]; double vel[K]; char tag; };

void move(int n, struct vec p[n], struct vec v[n], double dt) {
#pragma scop
  for (int i = 0; i < n; i++) { p[i].x += dt * v[i].x; p[i].y += dt * v[i].y; p[i].z += dt * v[i].z; }
#pragma endscop
}

void cmul(int n, int m, cplx a[n][m], cplx *restrict b) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float re = a[i][j].re * b[j].re - a[i][j].im * b[j].im;
      float im = a[i][j].re * b[j].im + a[i][j].im * b[j].re;
      a[i][j].re = re; a[i][j].im = im;
    }
#pragma endscop
}

void parts(int n, struct part *restrict p, double dt) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = 0; k < K; k++) p[i].pos[k] += dt * (p + i)->vel[k];
#pragma endscop
}
struct part glob[100];
struct { double a, b; } anon[64];
struct box { int n; struct vec *p; struct vec q[50]; };

void gl(int n) {
#pragma scop
  for (int i = 0; i < 100; i++) glob[i].vel[1] = glob[i].pos[0] + i;
  for (int i = 1; i < 63; i++) anon[i].b = anon[i-1].a + anon[i+1].a;
#pragma endscop
}

void bx(struct box *b, double f) {
#pragma scop
  for (int i = 0; i < b->n; i++) b->p[i].y = f * b->q[i % 50].x;
#pragma endscop
}

void only_y(int n, struct vec *p) {
#pragma scop
  for (int i = 0; i < n; i++) p[i].y = 3.0;
#pragma endscop
}

void local(int n, double a[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    struct vec t[2];
    t[0].x = a[i]; t[1].y = 2 * a[i];
    a[i] = t[0].x + t[1].y;
  }
#pragma endscop
}

void scopy(int n, struct vec a[n], struct vec b[n]) {
#pragma scop
  for (int i = 1; i < n; i++) {
    struct vec t = b[i-1], s = {1.0, 2.0};
    a[i] = b[i];
    a[i].x += t.z + s.y + s.z;
  }
#pragma endscop
}
