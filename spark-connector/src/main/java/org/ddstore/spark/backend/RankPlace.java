// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend;

import org.ddstore.spark.config.Settings;

/**
 * The place of a rank, and the settings of its store.
 *
 * @param host address at which other processes reach the process of the rank
 * @param index approximate index of the process among those of its host
 * @param isEncrypted whether Spark encrypts the traffic between processes
 */
public record RankPlace(int rank, String host, int index, boolean isEncrypted, Settings settings) {}
