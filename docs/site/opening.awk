# For Doxygen: the comment that opens a header says what the file is for. It goes where `#pragma once` was counted, so
# that the lines below keep their numbers.
/^extern template / { print ""; next }
NR == 1 && /^\/\/ / { print "/// @file"; opening = 1 }
opening && /^\/\// { sub(/^\/\/ ?/, "/// "); print; next }
{ opening = 0 }
/^#pragma once$/ { next }
{ print }
