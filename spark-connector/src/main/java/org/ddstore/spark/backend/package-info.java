// SPDX-License-Identifier: Apache-2.0
/**
 * What a transport implements to serve the jobs of Spark. The classes of one transport are in a
 * package of their own; nothing else knows a transport by name.
 */
@Internal
package org.ddstore.spark.backend;

import org.ddstore.types.Internal;
