// SPDX-License-Identifier: Apache-2.0
/** The data source {@code ddstore}: resident stores as tables of Spark SQL. */
@Internal
package org.ddstore.spark.source;

import org.ddstore.types.Internal;
