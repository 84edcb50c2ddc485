// SPDX-License-Identifier: Apache-2.0
/** Reports about the cluster and its transports, for {@code ddstore doctor}. */
@Internal
package org.ddstore.spark.report;

import org.ddstore.types.Internal;
