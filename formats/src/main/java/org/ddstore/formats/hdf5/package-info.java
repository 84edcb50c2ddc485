// SPDX-License-Identifier: Apache-2.0
/**
 * Groups, data sets and attributes of HDF5 files, read without a library. Every feature of the
 * format that this package does not decode is refused by its name. Every size in a file is compared
 * with the length of the file and with {@link org.ddstore.formats.ReadBudget} before memory is
 * allocated, and no structure is followed for longer than the file can describe it, so damaged and
 * hostile files end in an exception. Names follow the HDF5 File Format Specification 3.0.
 */
@Internal
package org.ddstore.formats.hdf5;

import org.ddstore.types.Internal;
