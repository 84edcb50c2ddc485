// SPDX-License-Identifier: Apache-2.0
/** Failures of tasks: which of them are permanent, and jobs that return them as results. */
@Internal
package org.ddstore.spark.failure;

import org.ddstore.types.Internal;
