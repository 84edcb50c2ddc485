/** Public value types and exceptions of the connector. */
package org.ddstore.spark.types;
