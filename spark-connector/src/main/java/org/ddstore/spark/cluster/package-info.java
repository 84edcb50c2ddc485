// SPDX-License-Identifier: Apache-2.0
/** Facts about the cluster, and the checks of a job's needs before it starts. */
@Internal
package org.ddstore.spark.cluster;

import org.ddstore.types.Internal;
