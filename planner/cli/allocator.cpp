// operator new and delete are mimalloc's: a search makes and drops small lists on all cores at once, which takes a fifth
// less time than with glibc's malloc (docs/planner.md).
#include <mimalloc-new-delete.h>
