// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.util.List;
import java.util.Map;

/**
 * A measured quantity with all its samples.
 *
 * @param subject the workload
 * @param phase {@code cold} for the first epoch, {@code warm} for all others
 * @param samples one value per epoch
 * @param baseline the way that the ratios are to, null if there is none
 * @param ratios samples divided by those of the baseline in the same epoch, null if there is none
 * @param mismatches samples of the data set that differed from the written ones
 */
record DlioFigure(
    String section,
    String subject,
    String way,
    String phase,
    String unit,
    List<Double> samples,
    String baseline,
    List<Double> ratios,
    long mismatches,
    Map<String, Object> settings) {}
