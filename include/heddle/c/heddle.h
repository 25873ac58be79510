/* Heddle for programs in C, and by heddle.f90 beside this file in Fortran: products, exponentials and linear systems of
 * matrices that lie as ScaLAPACK's do, block-cyclically over a process grid, whose local arrays are taken as they are.
 *
 * Every function returns HEDDLE_OK or the kind of error, and heddle_message() then says in one line what is wrong. All but
 * heddle_message() are collective over the ranks of the grid's communicator, and give the same result on every rank.
 *
 * A descriptor is the nine integers that descinit_ fills; its context is not read, as the grid stands for it. Arrays may be
 * in host memory, which the library pins for GPUs. Complex numbers are two real ones, the real part first. */
#ifndef HEDDLE_C_HEDDLE_H
#define HEDDLE_C_HEDDLE_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  HEDDLE_OK = 0,
  HEDDLE_ARGUMENT = 1,    /* a wrong argument */
  HEDDLE_INPUT = 2,       /* a file that can't be used */
  HEDDLE_OUTPUT = 3,      /* a result that can't be written */
  HEDDLE_STORAGE = 4,     /* a full disk, or the like */
  HEDDLE_COMPUTATION = 5, /* the computation failed, on this rank or another */
  HEDDLE_MEMORY = 6       /* there is not the memory for it */
};

/* Why the last function that did not return HEDDLE_OK did not, on this thread; "" before the first. The text is valid until
 * the next function is called. */
const char* heddle_message(void);

/* Starts Kokkos on this rank's device, where the program has not: after MPI_Init and before all others. Collective over
 * MPI_COMM_WORLD. heddle_end() ends Kokkos, where heddle_start() started it, after the last grid is freed and before
 * MPI_Finalize. */
int heddle_start(void);
int heddle_end(void);

/* A process grid of rows x columns over the first ranks of comm, numbered along its rows (order 'R') or columns ('C'), as
 * Cblacs_gridinit numbers them. */
typedef struct heddle_grid heddle_grid;
int heddle_grid_create(MPI_Comm comm, char order, int rows, int columns, heddle_grid** grid);
/* The same with Fortran's handle of a communicator. */
int heddle_grid_create_f(MPI_Fint comm, char order, int rows, int columns, heddle_grid** grid);
int heddle_grid_free(heddle_grid* grid);

/* C = alpha op(A) op(B) + beta C; op is 'N', 'T' or 'C'. The three matrices may have blocks and first processes of their
 * own. */
int heddle_psgemm(heddle_grid* grid, char op_a, char op_b, const float* alpha, const float* a, const int* desc_a,
                  const float* b, const int* desc_b, const float* beta, float* c, const int* desc_c);
int heddle_pdgemm(heddle_grid* grid, char op_a, char op_b, const double* alpha, const double* a, const int* desc_a,
                  const double* b, const int* desc_b, const double* beta, double* c, const int* desc_c);
int heddle_pcgemm(heddle_grid* grid, char op_a, char op_b, const float* alpha, const float* a, const int* desc_a,
                  const float* b, const int* desc_b, const float* beta, float* c, const int* desc_c);
int heddle_pzgemm(heddle_grid* grid, char op_a, char op_b, const double* alpha, const double* a, const int* desc_a,
                  const double* b, const int* desc_b, const double* beta, double* c, const int* desc_c);

/* E = exp(A) of a square A, to the round-off of its type. */
int heddle_psexpm(heddle_grid* grid, const float* a, const int* desc_a, float* e, const int* desc_e);
int heddle_pdexpm(heddle_grid* grid, const double* a, const int* desc_a, double* e, const int* desc_e);
int heddle_pcexpm(heddle_grid* grid, const float* a, const int* desc_a, float* e, const int* desc_e);
int heddle_pzexpm(heddle_grid* grid, const double* a, const int* desc_a, double* e, const int* desc_e);

/* Solves A X = B for a square A of n x n and k columns of B and X. Each matrix may have blocks and a first process of its
 * own, and X may lie over B, or over A: both are read before it is written.
 *
 * How: A and B are gathered on the first rank of the grid, which solves alone, and X is sent back. A is factored once with
 * partial pivoting, where each element of the factors is an exact inner product that is rounded once. Each column of X is
 * then corrected by residuals that are exact but for one rounding: at most five times, and until its backward error is
 * below the unit round-off of the type or stops halving. Systems of denormal or huge numbers are treated as others are.
 *
 * Bits: the same for any grid, any blocks and any number of ranks and threads, on CPUs and GPUs.
 *
 * Memory and cost: the rank that solves needs 2 n^2 + n k elements besides its local arrays (on a GPU 24 bytes more for each
 * element of A, 48 if complex), and makes about n^3 / 3 products of 11 flops (44 if complex), and 2 n^2 more for each
 * column and each of its corrections. The others wait: HEDDLE_TIMEOUT, where it is set, must be longer than that.
 *
 * *info, unless info is NULL, is 0, or, as that of ScaLAPACK's pdgesv, the number m, counted from 1, of the first element
 * U(m, m) of the factors that is exactly zero: A is singular then, and the function returns HEDDLE_COMPUTATION. It returns
 * that, with an info of 0, also where A or B holds NaN or Inf, and where X or a factor of A overflows. Shapes that don't
 * fit are HEDDLE_ARGUMENT. Where the rank that solves has no memory that is HEDDLE_MEMORY, and the message says how much it
 * wants. In none of these cases is X written. */
int heddle_pssolve(heddle_grid* grid, const float* a, const int* desc_a, const float* b, const int* desc_b, float* x,
                   const int* desc_x, int* info);
int heddle_pdsolve(heddle_grid* grid, const double* a, const int* desc_a, const double* b, const int* desc_b, double* x,
                   const int* desc_x, int* info);
int heddle_pcsolve(heddle_grid* grid, const float* a, const int* desc_a, const float* b, const int* desc_b, float* x,
                   const int* desc_x, int* info);
int heddle_pzsolve(heddle_grid* grid, const double* a, const int* desc_a, const double* b, const int* desc_b, double* x,
                   const int* desc_x, int* info);

#ifdef __cplusplus
}
#endif

#endif
