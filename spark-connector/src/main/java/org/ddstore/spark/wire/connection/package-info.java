// SPDX-License-Identifier: Apache-2.0
/**
 * Connections between the processes of a store over Spark's network library, the handshake that
 * proves the token of a store on them, and the limits on what unknown peers can cost.
 */
@Internal
package org.ddstore.spark.wire.connection;

import org.ddstore.types.Internal;
