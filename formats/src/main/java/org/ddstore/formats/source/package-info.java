// SPDX-License-Identifier: Apache-2.0
/**
 * The data source of Spark that reads every {@link org.ddstore.formats.SampleFormat}: lists files,
 * plans partitions, and gives rows as columnar batches.
 */
@Internal
package org.ddstore.formats.source;

import org.ddstore.types.Internal;
