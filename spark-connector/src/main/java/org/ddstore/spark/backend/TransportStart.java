// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend;

import java.time.Duration;
import org.ddstore.collective.Communicator;

/**
 * The resources that a rank opens a transport with.
 *
 * @param network connections of the store's processes; owned by the caller
 * @param ranks communicator of all ranks of the job; owned by the caller
 * @param group replica group of this rank; ranks of one group read each other's rows
 * @param readTimeout longest time of a read
 * @param collectiveTimeout longest time that ranks wait for each other
 */
public record TransportStart(
    StoreNetwork network,
    Communicator ranks,
    int group,
    Duration readTimeout,
    Duration collectiveTimeout) {}
