// SPDX-License-Identifier: Apache-2.0
/**
 * Files of AnnData: the formats {@code anndata} and {@code h5ad}, and the names of genes and
 * categories ({@link org.ddstore.formats.anndata.AnnData}).
 */
package org.ddstore.formats.anndata;
