// SPDX-License-Identifier: Apache-2.0
/** Resident stores: shards in executors between jobs, their places, leases, repair and metrics. */
@Internal
package org.ddstore.spark.resident;

import org.ddstore.types.Internal;
