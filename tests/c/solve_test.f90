! Systems of equations over all ranks, numbered along columns, from Fortran.
program solve_test
  use, intrinsic :: iso_c_binding, only: c_double, c_float, c_int
  use heddle
  use mpi
  implicit none
  ! Blocks of 2 x 3, dealt out along the columns from the last rank on, and of right-hand sides 3 x 1 from the first.
  integer, parameter :: n = 10, k = 4
  type(c_ptr) :: grid
  real(c_double), allocatable :: a(:, :), b(:, :), x(:, :)
  complex(c_double), allocatable :: za(:, :), zb(:, :)
  real(c_float), allocatable :: sa(:, :), sb(:, :)
  complex(c_float), allocatable :: ca(:, :), cb(:, :)
  integer(c_int) :: of_a(9), of_b(9), info
  integer :: rank, ranks, columns, right_sides, i, j, code

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  if (heddle_start() /= 0) error stop 'heddle_start'
  if (heddle_grid_create_f(MPI_COMM_WORLD, 'C', 1, ranks, grid) /= 0) error stop 'heddle_grid_create_f'
  of_a = [1, 0, n, n, 2, 3, 0, ranks - 1, n]
  of_b = [1, 0, n, k, 3, 1, 0, 0, n]
  columns = count([(owner(j, 3, ranks - 1) == rank, j = 1, n)])
  right_sides = count([(owner(j, 1, 0) == rank, j = 1, k)])
  allocate (a(n, columns), b(n, right_sides), x(n, right_sides))
  allocate (za(n, columns), zb(n, right_sides), sa(n, columns), sb(n, right_sides), ca(n, columns), cb(n, right_sides))
  do i = 1, n
    a(i, :) = [(entry(i, global(j, 3, ranks - 1)), j = 1, columns)]
    b(i, :) = [(right_side(i, global(j, 1, 0)), j = 1, right_sides)]
  end do
  x = 0
  za = cmplx(0, a, c_double)
  zb = cmplx(b, 0, c_double)
  sa = real(a, c_float)
  sb = real(b, c_float)
  ca = cmplx(0, sa, c_float)
  cb = cmplx(sb, 0, c_float)

  if (heddle_pdsolve(grid, a, of_a, b, of_b, x, of_b, info) /= 0) error stop 'pdsolve'
  if (info /= 0) error stop 'info'
  do j = 1, right_sides
    do i = 1, n
      if (x(i, j) /= solution(i, global(j, 1, 0))) error stop 'an element of X'
    end do
  end do
  ! (i A) (-i X) = B, over the place of B.
  if (heddle_pzsolve(grid, za, of_a, zb, of_b, zb, of_b, info) /= 0) error stop 'pzsolve'
  if (any(zb /= cmplx(0, -x, c_double))) error stop 'a complex element of X'
  if (heddle_pssolve(grid, sa, of_a, sb, of_b, sb, of_b, info) /= 0) error stop 'pssolve'
  if (any(sb /= real(x, c_float))) error stop 'a short element of X'
  if (heddle_pcsolve(grid, ca, of_a, cb, of_b, cb, of_b, info) /= 0) error stop 'pcsolve'
  if (any(cb /= cmplx(0, -real(x, c_float), c_float))) error stop 'a short complex element of X'

  ! Without its seventh column A is singular.
  do j = 1, columns
    if (global(j, 3, ranks - 1) == 7) a(:, j) = 0
  end do
  if (heddle_pdsolve(grid, a, of_a, b, of_b, x, of_b, info) /= 5) error stop 'singular'
  if (info /= 7) error stop 'info of a singular matrix'
  if (heddle_says() /= 'solve: A is singular, element 7, 7 of U is zero') error stop 'why not'
  of_b(3) = n - 1
  if (heddle_pdsolve(grid, a, of_a, b, of_b, x, of_b, info) /= 1) error stop 'B with fewer rows'
  if (index(heddle_says(), 'solve: A is 10 x 10, B is 9 x 4, X is 9 x 4') == 0) error stop 'which rows'
  if (heddle_grid_free(grid) /= 0) error stop 'heddle_grid_free'
  if (heddle_end() /= 0) error stop 'heddle_end'
  call MPI_Finalize(code)

contains

  ! Columns, counted from 1, in blocks that are dealt out from rank `first` on: whose they are, and which one is the
  ! rank's own column `at`.
  integer function owner(column, block, first)
    integer, intent(in) :: column, block, first
    owner = mod((column - 1) / block + first, ranks)
  end function
  integer function global(at, block, first)
    integer, intent(in) :: at, block, first
    global = ((at - 1) / block * ranks + modulo(rank - first, ranks)) * block + mod(at - 1, block) + 1
  end function

  ! Integers, so that B = A X is exact; no element of X is zero, which corrections come near to and do not reach.
  real(c_double) function entry(row, column)
    integer, intent(in) :: row, column
    entry = mod(row * row * 7 + column * 5 + row * column * 3, 11) + merge(40, 0, column == mod(row, n) + 1)
  end function
  real(c_double) function solution(row, column)
    integer, intent(in) :: row, column
    solution = 2 * mod(row * 3 + column * 5, 7) - 7
  end function
  real(c_double) function right_side(row, column)
    integer, intent(in) :: row, column
    integer :: l
    right_side = sum([(entry(row, l) * solution(l, column), l = 1, n)])
  end function

end program
