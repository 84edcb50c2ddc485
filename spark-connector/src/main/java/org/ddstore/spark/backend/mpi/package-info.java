// SPDX-License-Identifier: Apache-2.0
/** The {@code mpi} transport in the jobs of Spark; {@code org.ddstore.mpi} moves the rows. */
@Internal
package org.ddstore.spark.backend.mpi;

import org.ddstore.types.Internal;
