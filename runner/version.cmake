# Writes version.h from version.h.in at every build, so that results never carry an older commit than
# the one they were made with. Called with -D SOURCE_DIR, OUTPUT and the values of the template.
execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --dirty
                OUTPUT_VARIABLE NUMABENCH_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT NUMABENCH_COMMIT)
  set(NUMABENCH_COMMIT "unknown commit")
endif()
configure_file(${SOURCE_DIR}/runner/version.h.in ${OUTPUT} @ONLY)  # untouched when nothing changed
