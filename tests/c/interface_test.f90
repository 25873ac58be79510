! A product and an exponential over a grid of 2 x 2, from Fortran.
program interface_test
  use, intrinsic :: iso_c_binding, only: c_double, c_int, c_char
  use heddle
  use mpi
  implicit none
  integer, parameter :: n = 8, local = 4
  integer(c_int), parameter :: descriptor(9) = [1, 0, n, n, 2, 2, 0, 0, local]
  type(c_ptr) :: grid
  real(c_double) :: a(local, local), b(local, local), c(local, local)
  complex(c_double) :: z(local, local), e(local, local)
  integer :: rank, row, column, i, j, code

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  if (heddle_start() /= 0) error stop 'heddle_start'
  if (heddle_grid_create_f(MPI_COMM_WORLD, 'R', 2, 3, grid) == 0) error stop 'six of four ranks'
  if (index(heddle_says(), 'a grid of 2 x 3 for 4 ranks') == 0) error stop 'why not'
  if (heddle_grid_create_f(MPI_COMM_WORLD, 'R', 2, 2, grid) /= 0) error stop 'heddle_grid_create_f'
  row = rank / 2
  column = mod(rank, 2)
  do j = 1, local
    do i = 1, local
      a(i, j) = merge(1d0, 0d0, global(j, column) == global(i, row) + 1)
      b(i, j) = 10 * global(i, row) + global(j, column)
      z(i, j) = merge((0d0, 1d0), (0d0, 0d0), global(i, row) == global(j, column))
    end do
  end do
  c = 1
  if (heddle_pdgemm(grid, 'N', 'N', 2d0, a, descriptor, b, descriptor, 1d0, c, descriptor) /= 0) error stop 'pdgemm'
  do j = 1, local
    do i = 1, local
      if (global(i, row) == n - 1) then
        if (c(i, j) /= 1) error stop 'the last row'
      else if (c(i, j) /= 2 * (10 * (global(i, row) + 1) + global(j, column)) + 1) then
        error stop 'an element'
      end if
    end do
  end do
  if (heddle_pzexpm(grid, z, descriptor, e, descriptor) /= 0) error stop 'pzexpm'
  if (any(abs(e - z * cmplx(sin(1d0), -cos(1d0), c_double)) > 1d-15)) error stop 'cos 1 + i sin 1'
  if (heddle_grid_free(grid) /= 0) error stop 'heddle_grid_free'
  if (heddle_end() /= 0) error stop 'heddle_end'
  call MPI_Finalize(code)

contains

  integer function global(at, process)
    integer, intent(in) :: at, process
    global = ((at - 1) / 2 * 2 + process) * 2 + mod(at - 1, 2)
  end function

end program
