// SPDX-License-Identifier: Apache-2.0
/** The load of rows from Spark's formats into segments. */
@Internal
package org.ddstore.spark.ingest;

import org.ddstore.types.Internal;
