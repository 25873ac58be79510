# Installs BUILD into a temporary folder, whose name has spaces if the compiler accepts them; checks that nothing there
# leads back to BUILD or SOURCE; builds the project CONSUMER against it, as the README says, and runs the program; runs
# the command; removes all. A failed installation is kept for inspection.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  list(JOIN ARGN " " line)
  message("${line}\n${output}")
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "failed with ${code}: ${line}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(mktemp -d)
string(STRIP "${output}" WORK)
set(prefix "${WORK}/a prefix")
if(CXX_COMPILER MATCHES "nvcc_wrapper$")
  set(prefix "${WORK}/prefix")  # Kokkos' script splits what it is given at spaces.
endif()
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})

# Files that the loader and CMake read.
file(GLOB_RECURSE package "${prefix}/*.cmake")
foreach(file IN LISTS package)
  file(READ "${file}" text)
  foreach(folder IN ITEMS "${BUILD}" "${SOURCE}")
    string(FIND "${text}" "${folder}" place)
    if(NOT place EQUAL -1)
      message(FATAL_ERROR "${file} names ${folder}")
    endif()
  endforeach()
endforeach()
file(GLOB binaries "${prefix}/bin/heddle" "${prefix}/lib/libheddle.so.*.*.*")
foreach(binary IN LISTS binaries)
  run(ldd ${binary})
  string(FIND "${output}" "${SOURCE}" place)
  if(output MATCHES "not found" OR NOT place EQUAL -1)
    message(FATAL_ERROR "${binary} does not find what it needs below its prefix or in the system")
  endif()
endforeach()

string(STRIP "${CXX_FLAGS}" flags)
run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/consumer -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix}
    -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS=${flags})
run(${CMAKE_COMMAND} --build ${WORK}/consumer)
run(${MPIEXEC} ${NUMPROC} 2 ${WORK}/consumer/consumer)
if(NOT output MATCHES "[0-9]+ products, .E P - I. = [0-9]\\.[0-9]e-1[0-9]")
  message(FATAL_ERROR "the consumer printed something else")
endif()

run(${CMAKE_COMMAND} -S ${prefix}/share/doc/heddle/examples/gemm -B ${WORK}/example -G ${GENERATOR}
    -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -DCMAKE_CXX_FLAGS=${flags})
run(${CMAKE_COMMAND} --build ${WORK}/example)
run(${MPIEXEC} ${NUMPROC} 2 ${WORK}/example/example_gemm)

run(${prefix}/bin/heddle --version)
run(${prefix}/bin/heddle gemm --size 8 --tile 8)
# A deck found by its name alone is an installed one: the folder is empty.
file(MAKE_DIRECTORY ${WORK}/empty)
run(${CMAKE_COMMAND} -E chdir ${WORK}/empty ${prefix}/bin/heddle tdse h2plus-stretch --set time.steps=1 --set
    grid.points=61)
# Nowhere else: whoever could make the folder of the sources on another machine would have scripts run from it.
file(RENAME ${prefix}/share/heddle ${prefix}/share/elsewhere)
execute_process(COMMAND ${prefix}/bin/heddle tdse h2plus-stretch --set time.steps=1 --set grid.points=61 --output n.h5
                WORKING_DIRECTORY ${WORK}/empty RESULT_VARIABLE code ERROR_VARIABLE errors OUTPUT_QUIET)
if(NOT code EQUAL 2 OR NOT errors MATCHES "there is no such deck")
  message(FATAL_ERROR "without its share/heddle the installed command ends with ${code}: ${errors}")
endif()
file(RENAME ${prefix}/share/elsewhere ${prefix}/share/heddle)
foreach(file IN ITEMS share/heddle/plot/plot.py share/heddle/plot/common.py share/doc/heddle/LICENSE
        share/man/man1/heddle-gemm.1 share/bash-completion/completions/heddle share/zsh/site-functions/_heddle)
  if(NOT EXISTS "${prefix}/${file}")
    message(FATAL_ERROR "${file} is not installed")
  endif()
endforeach()

file(WRITE "${prefix}/share/somebody's" "")
run(${CMAKE_COMMAND} --build ${BUILD} --target uninstall)
file(GLOB_RECURSE left LIST_DIRECTORIES true RELATIVE "${prefix}" "${prefix}/*")
if(NOT left STREQUAL "share;share/somebody's")
  message(FATAL_ERROR "after the removal there is ${left}")
endif()
file(REMOVE_RECURSE "${WORK}")
