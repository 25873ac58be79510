# For Doxygen: the documents are written for the repository, where links lead to files and headings that the site lacks.
# Code stays as it is.
/^ *```/,/^ *```/b
# Pictures of perf have names of the site's own, since several are called accuracy.png; see ci/docs.
s#\]\((\.\./)*perf/([a-z_]+)/([a-z_]+\.png)\)#](\2-\3)#g
# Pages without the heading; Doxygen 1.9 knows headings by other names.
s#\]\(([^):]*\.md)\#[^)]*\)#](\1)#g
# What is no page of the site is no link: pages and pictures are put aside, then brought back.
s#\]\(([^):]*\.md)\)#]\x02\1\x02#g
s#!\[([^]]*)\]\(([^)]*)\)#!\x03\1\x03\2\x03#g
s#\[([^]]*)\]\([^):]*\)#\1#g
s#!\x03([^\x03]*)\x03([^\x03]*)\x03#![\1](\2)#g
s#\]\x02([^\x02]*)\x02#](\1)#g
