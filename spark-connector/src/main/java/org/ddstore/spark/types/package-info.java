// SPDX-License-Identifier: Apache-2.0
/** Public value types and exceptions of the connector. */
package org.ddstore.spark.types;
