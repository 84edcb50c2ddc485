// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import java.time.Instant;
import java.util.Optional;

/**
 * A permission to read a store from outside of Spark, see {@code ResidentStore.grant}.
 *
 * @param label name of the grant
 * @param expires end of the permission by the clocks of the executors; empty: the end of the store
 * @param isRevoked whether {@code ResidentStore.revoke} has ended it
 */
public record StoreGrant(String label, Optional<Instant> expires, boolean isRevoked) {}
