/** Runs one barrier job: starts ranks, lets them meet, and submits them again after a failure. */
@Internal
package org.ddstore.spark.job;

import org.ddstore.types.Internal;
