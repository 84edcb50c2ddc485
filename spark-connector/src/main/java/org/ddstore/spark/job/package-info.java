// SPDX-License-Identifier: Apache-2.0
/** Barrier jobs: start and connection of ranks, transports, and resubmission after a failure. */
@Internal
package org.ddstore.spark.job;

import org.ddstore.types.Internal;
