/**
 * Ranks as an MPI world: Open MPI's Java bindings and the PMI-1 that Open MPI asks. What needs
 * mpi.jar is compiled only where there is one.
 */
@Internal
package org.ddstore.mpi;

import org.ddstore.types.Internal;
