// SPDX-License-Identifier: Apache-2.0
/**
 * The contract that a transport implements to serve Spark jobs. Each transport has its own package;
 * no other code refers to a transport by name.
 */
@Internal
package org.ddstore.spark.backend;

import org.ddstore.types.Internal;
