// SPDX-License-Identifier: Apache-2.0
/** Settings of {@code spark.ddstore.*}: their names, defaults, legal ranges and precedence. */
@Internal
package org.ddstore.spark.config;

import org.ddstore.types.Internal;
