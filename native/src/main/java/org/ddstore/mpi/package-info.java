// SPDX-License-Identifier: Apache-2.0
/**
 * Ranks as an MPI world, with Open MPI's Java bindings and a PMI-1 server for Open MPI. The classes
 * that need mpi.jar are compiled only if it is present.
 */
@Internal
package org.ddstore.mpi;

import org.ddstore.types.Internal;
