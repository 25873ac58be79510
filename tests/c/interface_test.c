/* Products and exponentials of matrices over a grid of 2 x 2, from C. */
#include <heddle/c/heddle.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void expect(int holds, const char* what) {
  if (!holds) {
    fprintf(stderr, "failed: %s (%s)\n", what, heddle_message());
    ++failures;
  }
}

/* Blocks of 2 x 2 over the grid: what element of the matrix a rank's element is. */
static int global(int local, int process) { return (local / 2 * 2 + process) * 2 + local % 2; }

enum { n = 8, local = 4 };

static void fill(double* a, int row, int column, double (*entry)(int, int)) {
  for (int j = 0; j < local; ++j) {
    for (int i = 0; i < local; ++i) a[i + j * local] = entry(global(i, row), global(j, column));
  }
}
static double shift(int i, int j) { return j == (i + 1) % n ? 1.0 : 0.0; }
static double number(int i, int j) { return 10.0 * i + j; }
static double nothing(int i, int j) { return 0.0 * i * j; }
static double generator(int i, int j) { return j == i + 1 ? 1.0 : 0.0; }

int main(int argc, char** argv) {
  const int silent = strcmp(heddle_message(), "") == 0;
  const int without_mpi = heddle_start();
  const int names_mpi = strstr(heddle_message(), "MPI is not initialised; call MPI_Init first") != NULL;
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  expect(silent, "no message before the first failure");
  expect(without_mpi == HEDDLE_ARGUMENT && names_mpi, "heddle_start before MPI_Init is refused");
  heddle_grid* none = NULL;
  expect(heddle_grid_create(MPI_COMM_WORLD, 'R', 2, 2, &none) == HEDDLE_ARGUMENT && none == NULL,
         "a grid before heddle_start is refused");
  expect(strstr(heddle_message(), "Kokkos is not started; call heddle_start() first") != NULL, "and says what to call");
  expect(heddle_start() == HEDDLE_OK, "heddle_start");
  expect(heddle_start() == HEDDLE_OK, "a second heddle_start changes nothing");

  heddle_grid* grid = NULL;
  expect(heddle_grid_create(MPI_COMM_WORLD, 'X', 2, 2, &grid) == HEDDLE_ARGUMENT && grid == NULL, "order X is refused");
  expect(strstr(heddle_message(), "order 'X'; expected 'R' or 'C'") != NULL, "and named");
  expect(heddle_grid_create(MPI_COMM_WORLD, 'R', 2, 3, &grid) == HEDDLE_ARGUMENT && grid == NULL, "six of four ranks");
  expect(heddle_grid_create(MPI_COMM_WORLD, 'C', 2, 2, &grid) == HEDDLE_OK, "heddle_grid_create");

  const int row = rank % 2, column = rank / 2; /* numbered along columns */
  const int descriptor[9] = {1, 0, n, n, 2, 2, 0, 0, local};
  double a[local * local], b[local * local], c[local * local];
  fill(a, row, column, shift);
  fill(b, row, column, number);
  fill(c, row, column, number);
  const double alpha = 2.0, beta = 3.0;
  expect(heddle_pdgemm(grid, 'T', 'N', &alpha, a, descriptor, b, descriptor, &beta, c, descriptor) == HEDDLE_OK,
         "heddle_pdgemm");
  for (int j = 0; j < local; ++j) {
    for (int i = 0; i < local; ++i) {
      const int r = global(i, row), s = global(j, column);
      expect(c[i + j * local] == 2.0 * number((r + n - 1) % n, s) + 3.0 * number(r, s), "2 A^T B + 3 C");
    }
  }

  fill(a, row, column, generator);
  fill(c, row, column, nothing);
  expect(heddle_pdexpm(grid, a, descriptor, c, descriptor) == HEDDLE_OK, "heddle_pdexpm");
  for (int j = 0; j < local; ++j) {
    for (int i = 0; i < local; ++i) {
      const int distance = global(j, column) - global(i, row);
      double expected = distance < 0 ? 0.0 : 1.0;
      for (int k = 2; k <= distance; ++k) expected /= k;
      expect(fabs(c[i + j * local] - expected) < 1e-15, "exp of a nilpotent matrix");
    }
  }

  /* i I, whose exponential is cos 1 + i sin 1. */
  float z[2 * local * local], e[2 * local * local];
  for (int k = 0; k < local * local; ++k) {
    const int on_diagonal = global(k % local, row) == global(k / local, column);
    z[2 * k] = 0.0F;
    z[2 * k + 1] = on_diagonal ? 1.0F : 0.0F;
  }
  expect(heddle_pcexpm(grid, z, descriptor, e, descriptor) == HEDDLE_OK, "heddle_pcexpm");
  for (int k = 0; k < local * local; ++k) {
    const int on_diagonal = global(k % local, row) == global(k / local, column);
    expect(fabs(e[2 * k] - (on_diagonal ? cos(1.0) : 0.0)) < 1e-6, "cos 1");
    expect(fabs(e[2 * k + 1] - (on_diagonal ? sin(1.0) : 0.0)) < 1e-6, "sin 1");
  }

  /* One rank's array is missing: all are told. */
  expect(heddle_pdgemm(grid, 'N', 'N', &alpha, rank == 3 ? NULL : a, descriptor, b, descriptor, &beta, c, descriptor) ==
             HEDDLE_ARGUMENT, "an array that is missing");
  expect(strstr(heddle_message(), "rank 3 gives no array") != NULL, "on rank 3");
  const int wrong[9] = {1, 0, n + 1, n, 2, 2, 0, 0, local + 1};
  double larger[(local + 1) * local];
  expect(heddle_pdgemm(grid, 'N', 'N', &alpha, larger, wrong, b, descriptor, &beta, c, descriptor) == HEDDLE_ARGUMENT,
         "shapes that don't fit");
  expect(heddle_pdgemm(grid, 'Q', 'N', &alpha, a, descriptor, b, descriptor, &beta, c, descriptor) == HEDDLE_ARGUMENT,
         "operation Q");
  expect(heddle_pdgemm(NULL, 'N', 'N', &alpha, a, descriptor, b, descriptor, &beta, c, descriptor) == HEDDLE_ARGUMENT,
         "no grid");
  expect(heddle_pdgemm(grid, 'N', 'N', &alpha, a, NULL, b, descriptor, &beta, c, descriptor) == HEDDLE_ARGUMENT,
         "no descriptor");
  /* And all works again. */
  expect(heddle_pdexpm(grid, a, descriptor, c, descriptor) == HEDDLE_OK, "after all that");

  expect(heddle_grid_free(grid) == HEDDLE_OK, "heddle_grid_free");
  expect(heddle_end() == HEDDLE_OK, "heddle_end");
  expect(heddle_end() == HEDDLE_OK, "a second heddle_end changes nothing");
  MPI_Finalize();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
