/* Systems of equations over every grid of the ranks that there are, from C: what they solve, and that no bit depends on
 * where the matrices lie. */
#include <heddle/c/heddle.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void expect(int holds, const char* what, const char* of) {
  if (!holds) {
    fprintf(stderr, "failed: %s, %s (%s)\n", what, of, heddle_message());
    ++failures;
  }
}

/* The four types of elements, with one way to call each of their functions. */
typedef int solver(heddle_grid*, const void*, const int*, const void*, const int*, void*, const int*, int*);
#define SOLVER(letter)                                                                                               \
  static int solve_##letter(heddle_grid* grid, const void* a, const int* desc_a, const void* b, const int* desc_b, \
                            void* x, const int* desc_x, int* info) {                                                 \
    return heddle_p##letter##solve(grid, a, desc_a, b, desc_b, x, desc_x, info);                                     \
  }
SOLVER(s)
SOLVER(d)
SOLVER(c)
SOLVER(z)

typedef struct {
  const char* name;
  int parts; /* two if complex */
  int single;
  solver* solve;
} scalar;
static const scalar scalars[4] = {{"float", 1, 1, solve_s},
                                  {"double", 1, 0, solve_d},
                                  {"complex float", 2, 1, solve_c},
                                  {"complex double", 2, 0, solve_z}};

static size_t bytes_of(const scalar* type) { return (size_t)type->parts * (type->single ? 4 : 8); }
static void set(const scalar* type, void* array, int at, const double* parts) {
  for (int p = 0; p < type->parts; ++p) {
    if (type->single) {
      ((float*)array)[at * type->parts + p] = (float)parts[p];
    } else {
      ((double*)array)[at * type->parts + p] = parts[p];
    }
  }
}
static double part_of(const scalar* type, const void* array, int at, int part) {
  const int k = at * type->parts + part;
  return type->single ? ((const float*)array)[k] : ((const double*)array)[k];
}

/* A whole matrix, column by column, each element two parts. */
enum { most = 24 };
typedef struct {
  int rows, columns;
  double element[most * most][2];
} whole;

/* A grid, and where this rank is in it: outside where row < 0. */
typedef struct {
  heddle_grid* grid;
  int rows, columns, row, column;
  char name[40];
} process;

/* This rank's part of a matrix: blocks dealt out from a process on, with a leading dimension that is too large. */
typedef struct {
  int descriptor[9];
  int rows, columns; /* of this rank */
  int process_row, process_column;
  void* array;
} part;

static int global_of(int local, int block, int processes, int process, int first) {
  return (local / block * processes + (process - first + processes) % processes) * block + local % block;
}
static int count_of(int extent, int block, int processes, int process, int first) {
  int count = 0;
  while (process >= 0 && global_of(count, block, processes, process, first) < extent) ++count;
  return count;
}
static int row_of(const part* m, const process* p, int i) {
  return global_of(i, m->descriptor[4], p->rows, p->row, m->descriptor[6]);
}
static int column_of(const part* m, const process* p, int j) {
  return global_of(j, m->descriptor[5], p->columns, p->column, m->descriptor[7]);
}

static part part_of_matrix(const scalar* type, const process* p, const whole* w, int block_rows, int block_columns,
                           int first) {
  const int first_row = first % p->rows, first_column = first % p->columns;
  part m = {{1, -7, w->rows, w->columns, block_rows, block_columns, first_row, first_column, 0}, 0, 0, 0, 0, NULL};
  m.rows = count_of(w->rows, block_rows, p->rows, p->row, first_row);
  m.columns = count_of(w->columns, block_columns, p->columns, p->column, first_column);
  m.descriptor[8] = m.rows + 3;
  m.array = calloc((size_t)(m.descriptor[8] * m.columns + 1), bytes_of(type));
  for (int j = 0; j < m.columns; ++j) {
    for (int i = 0; i < m.rows; ++i) {
      set(type, m.array, i + j * m.descriptor[8], w->element[row_of(&m, p, i) + column_of(&m, p, j) * w->rows]);
    }
  }
  return m;
}

/* Whether the part has the bits of `expected`, a whole matrix of elements of its type. */
static int has_bits(const scalar* type, const process* p, const part* m, const void* expected) {
  const size_t bytes = bytes_of(type);
  for (int j = 0; j < m->columns; ++j) {
    for (int i = 0; i < m->rows; ++i) {
      const int mine = i + j * m->descriptor[8], at = row_of(m, p, i) + column_of(m, p, j) * m->descriptor[2];
      const char *is = (const char*)m->array + (size_t)mine * bytes, *should = (const char*)expected + (size_t)at * bytes;
      if (memcmp(is, should, bytes) != 0) return 0;
    }
  }
  return 1;
}

/* Systems with a known solution: integers A and X, whose rows and columns are then scaled by powers of two, so that
 * A, X and B = A X are all exact. */
enum { random_case, ill_conditioned, graded, denormal, huge, cases };
static const char* const names[cases] = {"random", "ill-conditioned", "graded", "denormal", "huge"};

static unsigned state;
static int integer(int size) { /* of -size ... size, the same on every rank */
  state = state * 1664525U + 1013904223U;
  return (int)((state >> 8) % (unsigned)(2 * size + 1)) - size;
}

/* Of -7 ... 7 and never zero, which corrections come near to and do not reach. */
static int odd(void) { return 2 * integer(3) + 1; }

static int integers(int kind, const scalar* type, int order, whole* a) {
  const int n = kind == ill_conditioned ? (type->single ? 5 : 9) : order;
  a->rows = a->columns = n;
  memset(a->element, 0, sizeof a->element);
  for (int k = 0; k < n * n; ++k) {
    const int i = k % n, j = k / n;
    double* const element = a->element[k];
    for (int p = 0; p < type->parts; ++p) {
      /* Hilbert's matrix, times what makes it one of integers. */
      element[p] = kind == ill_conditioned ? (type->single ? 2520.0 : 12252240.0) / (i + j + 1) : integer(9);
    }
    /* Large elements that are not on the diagonal. */
    if (kind >= denormal && j == (i + 5) % n) element[0] += 300;
  }
  return n;
}

static void make_system(int kind, const scalar* type, int order, int columns, whole* a, whole* x, whole* b) {
  static const int scales[cases][2] = {{0, 0}, {0, 0}, {0, 0}, {-140, -1050}, {105, 1000}};
  state = (unsigned)(1 + kind);
  const int n = integers(kind, type, order, a);
  x->rows = b->rows = n;
  x->columns = b->columns = columns;
  for (int k = 0; k < n * columns; ++k) {
    for (int p = 0; p < 2; ++p) x->element[k][p] = p < type->parts ? odd() : 0;
  }
  int of_row[most], of_column[most];
  for (int k = 0; k < n; ++k) {
    const int room = type->single ? 15 : 150;
    of_row[k] = kind == graded ? k * 37 % (2 * room + 1) - room : scales[kind][!type->single];
    of_column[k] = kind == graded ? k * 53 % (2 * room + 1) - room : 0;
  }
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < n; ++i) {
      double sum[2] = {0, 0};
      for (int k = 0; k < n; ++k) {
        const double *u = a->element[i + k * n], *v = x->element[k + j * n];
        sum[0] += u[0] * v[0] - u[1] * v[1];
        sum[1] += u[0] * v[1] + u[1] * v[0];
      }
      for (int p = 0; p < 2; ++p) b->element[i + j * n][p] = ldexp(sum[p], of_row[i]);
    }
  }
  for (int k = 0; k < n * n; ++k) {
    for (int p = 0; p < 2; ++p) a->element[k][p] = ldexp(a->element[k][p], of_row[k % n] + of_column[k / n]);
  }
  for (int k = 0; k < n * columns; ++k) {
    for (int p = 0; p < 2; ++p) x->element[k][p] = ldexp(x->element[k][p], -of_column[k % n]);
  }
}

static const whole nothing;
static whole of_zeros(int rows, int columns) {
  whole w = nothing;
  w.rows = rows;
  w.columns = columns;
  return w;
}

/* Solves over a grid: X in a place of its own, over B, and over A where it fits. */
static void check_grid(const scalar* type, const process* p, const whole* a, const whole* b, const void* expected,
                       int which, const char* of) {
  const int places = b->columns == a->columns ? 3 : 2;
  for (int where = 0; where < places; ++where) {
    part A = part_of_matrix(type, p, a, 3, 5 - which % 3, which + where);
    part B = part_of_matrix(type, p, b, 4, 2, which + 1);
    const whole zeros = of_zeros(b->rows, b->columns);
    part X = part_of_matrix(type, p, &zeros, 2 + which % 2, 7, which + 2);
    part* const place = where == 1 ? &B : where == 2 ? &A : &X;
    int info = -1;
    expect(type->solve(p->grid, A.array, A.descriptor, B.array, B.descriptor, place->array, place->descriptor, &info) ==
                   HEDDLE_OK && info == 0, p->name, of);
    expect(has_bits(type, p, place, expected), "the bits of one rank", of);
    free(A.array);
    free(B.array);
    free(X.array);
  }
}

/* What is promised of any A: a column of X has a backward error of the round-off of its type, so that what it lacks is
 * that times the condition (of Hilbert's matrices, in the maximum norm). The others here are solved to the last bit. */
static void check_column(int kind, const scalar* type, const whole* a, const whole* x, const whole* b, const part* X,
                         int column, const char* of) {
  const int n = a->rows, at = column * X->descriptor[8];
  const long double roundoff = type->single ? FLT_EPSILON / 2 : DBL_EPSILON / 2;
  const double condition = type->single ? 9.5e5 : 1.1e12;
  for (int i = 0; i < n; ++i) {
    const double* const right = b->element[i + column * n];
    long double rest[2] = {right[0], right[1]}, size = hypotl(rest[0], rest[1]);
    for (int j = 0; j < n; ++j) {
      const double* const u = a->element[i + j * n];
      long double v[2] = {0, 0};
      for (int p = 0; p < type->parts; ++p) v[p] = part_of(type, X->array, at + j, p);
      rest[0] -= u[0] * v[0] - u[1] * v[1];
      rest[1] -= u[0] * v[1] + u[1] * v[0];
      size += hypotl(u[0], u[1]) * hypotl(v[0], v[1]);
    }
    expect(hypotl(rest[0], rest[1]) <= (roundoff + 4 * n * LDBL_EPSILON) * size, "the backward error", of);
    for (int p = 0; p < type->parts; ++p) {
      const double lacks = fabs(part_of(type, X->array, at + i, p) - x->element[i + column * n][p]);
      expect(kind == ill_conditioned ? lacks <= 7 * 2 * condition * roundoff : lacks == 0, "the solution", of);
    }
  }
}

/* On one rank alone, and then over the grids. */
static void check_case(int kind, const scalar* type, int columns, const process* alone, const process* grids,
                       int count) {
  static whole a, x, b;
  make_system(kind, type, 23, columns, &a, &x, &b);
  char of[120];
  snprintf(of, sizeof of, "%s, %s, %d columns", names[kind], type->name, columns);
  part A = part_of_matrix(type, alone, &a, 1, 1, 0), B = part_of_matrix(type, alone, &b, 1, 1, 0);
  int info = -1;
  expect(type->solve(alone->grid, A.array, A.descriptor, B.array, B.descriptor, B.array, B.descriptor, &info) ==
                 HEDDLE_OK && info == 0, "one rank", of);
  void* const expected = calloc((size_t)(a.rows * columns + 1), bytes_of(type));
  for (int k = 0; k < a.rows * columns; ++k) {
    const int at = k % a.rows + k / a.rows * B.descriptor[8];
    memcpy((char*)expected + (size_t)k * bytes_of(type), (char*)B.array + (size_t)at * bytes_of(type), bytes_of(type));
  }
  for (int j = 0; j < columns; ++j) check_column(kind, type, &a, &x, &b, &B, j, of);
  for (int g = 0; g < count; ++g) check_grid(type, &grids[g], &a, &b, expected, g, of);
  free(A.array);
  free(B.array);
  free(expected);
}

static int solve_whole(const scalar* type, const process* p, const whole* a, const whole* b, whole* x, int* info) {
  part A = part_of_matrix(type, p, a, 2, 3, 1), B = part_of_matrix(type, p, b, 1, 2, 0);
  part X = part_of_matrix(type, p, x, 3, 1, 1);
  const int code = type->solve(p->grid, A.array, A.descriptor, B.array, B.descriptor, X.array, X.descriptor, info);
  for (int j = 0; j < X.columns; ++j) {
    for (int i = 0; i < X.rows; ++i) {
      double* const element = x->element[row_of(&X, p, i) + column_of(&X, p, j) * x->rows];
      for (int k = 0; k < type->parts; ++k) element[k] = part_of(type, X.array, i + j * X.descriptor[8], k);
    }
  }
  free(A.array);
  free(B.array);
  free(X.array);
  return code;
}

/* What can't be solved: every rank is told the same, and X stays as it was. */
static void check_refusals(const scalar* type, const process* p) {
  static whole a, x, b, before;
  int info = -1;
  make_system(random_case, type, 9, 2, &a, &x, &b);
  for (int i = 0; i < 9; ++i) {
    for (int k = 0; k < 2; ++k) a.element[i + 3 * 9][k] = a.element[i + 5 * 9][k] = 0;
  }
  before = x;
  expect(solve_whole(type, p, &a, &b, &x, &info) == HEDDLE_COMPUTATION && info == 4, "singular", type->name);
  expect(strcmp(heddle_message(), "solve: A is singular, element 4, 4 of U is zero") == 0, "its pivot", type->name);
  expect(memcmp(&before, &x, sizeof x) == 0, "X of a singular A", type->name);
  expect(solve_whole(type, p, &a, &b, &x, NULL) == HEDDLE_COMPUTATION, "singular without info", type->name);

  make_system(random_case, type, 9, 2, &a, &x, &b);
  before = x;
  a.element[6 + 4 * 9][type->parts - 1] = NAN;
  a.element[2 + 5 * 9][0] = INFINITY;
  info = -1;
  expect(solve_whole(type, p, &a, &b, &x, &info) == HEDDLE_COMPUTATION && info == 0, "a NaN in A", type->name);
  expect(strcmp(heddle_message(), "solve: A holds NaN or Inf, first in row 7 of column 5, counted from 1") == 0,
         "where it is", type->name);
  make_system(random_case, type, 9, 2, &a, &x, &b);
  b.element[17][type->parts - 1] = -INFINITY;
  expect(solve_whole(type, p, &a, &b, &x, &info) == HEDDLE_COMPUTATION && info == 0, "an infinity in B", type->name);
  expect(strcmp(heddle_message(), "solve: B holds NaN or Inf, first in row 9 of column 2, counted from 1") == 0,
         "where it is", type->name);
  expect(memcmp(&before, &x, sizeof x) == 0, "X without numbers", type->name);

  a = of_zeros(3, 3);
  b = x = before = of_zeros(3, 1);
  for (int i = 0; i < 3; ++i) {
    a.element[4 * i][0] = ldexp(1, type->single ? -100 : -1000);
    b.element[i][0] = ldexp(1, type->single ? 100 : 1000);
  }
  expect(solve_whole(type, p, &a, &b, &x, &info) == HEDDLE_COMPUTATION && info == 0, "an X that overflows", type->name);
  expect(strcmp(heddle_message(), "solve: the solution or a factor of A overflows") == 0, "it is said", type->name);
  expect(memcmp(&before, &x, sizeof x) == 0, "X that overflows", type->name);

  a = of_zeros(3, 4);
  expect(solve_whole(type, p, &a, &b, &x, &info) == HEDDLE_ARGUMENT && info == 0, "not square", type->name);
  expect(strcmp(heddle_message(), "solve: A is 3 x 4, B is 3 x 1, X is 3 x 1") == 0, "shapes", type->name);
  a = of_zeros(4, 4);
  expect(solve_whole(type, p, &a, &b, &x, &info) == HEDDLE_ARGUMENT, "B of other rows", type->name);
  a = of_zeros(3, 3);
  x = of_zeros(3, 2);
  expect(solve_whole(type, p, &a, &b, &x, &info) == HEDDLE_ARGUMENT, "X of other columns", type->name);

  /* Nothing to solve. */
  a = b = x = of_zeros(0, 0);
  expect(solve_whole(type, p, &a, &b, &x, &info) == HEDDLE_OK && info == 0, "no equation", type->name);
  make_system(random_case, type, 9, 2, &a, &x, &b);
  b = x = of_zeros(9, 0);
  expect(solve_whole(type, p, &a, &b, &x, &info) == HEDDLE_OK && info == 0, "no right-hand side", type->name);
  a = b = x = of_zeros(1, 1);
  expect(solve_whole(type, p, &a, &b, &x, &info) == HEDDLE_COMPUTATION && info == 1, "0 x = 0", type->name);
}

/* What one rank gives wrong is every rank's error. */
static void check_ranks(const process* p, int rank, int ranks) {
  static whole a, x, b;
  const scalar* const type = &scalars[1];
  make_system(random_case, type, 9, 2, &a, &x, &b);
  part A = part_of_matrix(type, p, &a, 2, 2, 0), B = part_of_matrix(type, p, &b, 2, 2, 0);
  int info = -1;
  expect(heddle_pdsolve(p->grid, rank == ranks - 1 ? NULL : A.array, A.descriptor, B.array, B.descriptor, B.array,
                        B.descriptor, &info) == HEDDLE_ARGUMENT && info == 0, "an array that is missing", p->name);
  char who[40];
  snprintf(who, sizeof who, "rank %d gives no array", ranks - 1);
  expect(strstr(heddle_message(), who) != NULL, "on the last rank", p->name);
  expect(heddle_pdsolve(NULL, A.array, A.descriptor, B.array, B.descriptor, B.array, B.descriptor, &info) ==
             HEDDLE_ARGUMENT, "no grid", p->name);
  expect(heddle_pdsolve(p->grid, A.array, A.descriptor, B.array, NULL, B.array, B.descriptor, NULL) == HEDDLE_ARGUMENT,
         "no descriptor", p->name);
  /* 8 TiB on one rank; nothing reads what the arrays don't have. */
  const int large = 1 << 20;
  const int of_large[9] = {1, 0, large, large, 64, 64, 0, 0, large}, of_b[9] = {1, 0, large, 1, 64, 64, 0, 0, large};
  expect(heddle_pdsolve(p->grid, A.array, of_large, B.array, of_b, B.array, of_b, &info) != HEDDLE_OK && info == 0,
         "no memory for A", p->name);
  if (ranks > 1) {
    /* One rank has blocks of its own, within the memory that it has. */
    double room[9 * 9] = {0};
    const int of_x[9] = {1, 0, 9, 2, 2, rank == 1 ? 3 : 2, 0, 0, 9};
    expect(heddle_pdsolve(p->grid, A.array, A.descriptor, room, of_x, room, of_x, &info) == HEDDLE_ARGUMENT,
           "descriptors that differ", p->name);
    expect(strstr(heddle_message(), "expected the same on every rank") != NULL, "are named", p->name);
  }
  expect(heddle_pdsolve(p->grid, A.array, A.descriptor, B.array, B.descriptor, B.array, B.descriptor, &info) ==
             HEDDLE_OK, "after all that", p->name);
  free(A.array);
  free(B.array);
}

static process process_of(MPI_Comm comm, char order, int rows, int columns) {
  process p = {NULL, rows, columns, -1, -1, ""};
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  expect(heddle_grid_create(comm, order, rows, columns, &p.grid) == HEDDLE_OK, "heddle_grid_create", "");
  snprintf(p.name, sizeof p.name, "grid %c of %d x %d", order, rows, columns);
  if (rank < rows * columns) {
    p.row = order == 'R' ? rank / columns : rank % rows;
    p.column = order == 'R' ? rank % columns : rank / rows;
  }
  return p;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  expect(heddle_start() == HEDDLE_OK, "heddle_start", "");

  /* Every grid; on some of them a few ranks have nothing. The last is of all ranks. */
  process alone = process_of(MPI_COMM_SELF, 'R', 1, 1), grids[40];
  int count = 0;
  for (int rows = ranks; rows >= 1; --rows) {
    for (int columns = 1; columns <= ranks / rows; ++columns) {
      grids[count++] = process_of(MPI_COMM_WORLD, 'R', rows, columns);
      if (rows > 1 && columns > 1) grids[count++] = process_of(MPI_COMM_WORLD, 'C', rows, columns);
    }
  }
  for (int t = 0; t < 4; ++t) {
    for (int kind = 0; kind < cases; ++kind) {
      check_case(kind, &scalars[t], 1, &alone, grids, count);
      check_case(kind, &scalars[t], 6, &alone, grids, count);
    }
    check_case(random_case, &scalars[t], 23, &alone, grids, count);
    for (int g = 0; g < count; ++g) check_refusals(&scalars[t], &grids[g]);
  }
  check_ranks(&grids[count - 1], rank, ranks);

  for (int g = 0; g < count; ++g) {
    expect(heddle_grid_free(grids[g].grid) == HEDDLE_OK, "heddle_grid_free", grids[g].name);
  }
  expect(heddle_grid_free(alone.grid) == HEDDLE_OK, "heddle_grid_free", alone.name);
  expect(heddle_end() == HEDDLE_OK, "heddle_end", "");
  MPI_Finalize();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
