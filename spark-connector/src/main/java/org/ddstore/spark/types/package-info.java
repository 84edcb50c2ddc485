/** Value types and exceptions of the connector that users see. */
package org.ddstore.spark.types;
