cmake_minimum_required(VERSION 3.22)
# Writes OUTPUT with the commit of SOURCE, at each build; touches it only where the commit changed.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                OUTPUT_VARIABLE hash OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed OR NOT hash)
  set(hash unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define HEDDLE_GIT_HASH \"@hash@\"\n" @ONLY)
