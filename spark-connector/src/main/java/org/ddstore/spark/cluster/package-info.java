/** Finds out what the cluster offers, and checks before a job what it needs. */
@Internal
package org.ddstore.spark.cluster;

import org.ddstore.types.Internal;
