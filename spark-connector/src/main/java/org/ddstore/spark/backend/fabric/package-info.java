// SPDX-License-Identifier: Apache-2.0
/** The {@code fabric} transport in the jobs of Spark; {@code org.ddstore.fabric} moves the rows. */
@Internal
package org.ddstore.spark.backend.fabric;

import org.ddstore.types.Internal;
