// SPDX-License-Identifier: Apache-2.0
/** Jobs whose results, and values for tasks, travel in one form with every serializer of Spark. */
@Internal
package org.ddstore.spark.task;

import org.ddstore.types.Internal;
