// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/tensors/tensor_provider.h"

#include <QWidget>

#include <memory>

namespace tapescope::viewers {

/// One tensor: a line with NaN and Inf first, then values, histogram and image of a slice. Asks its
/// provider only for what is on screen. GUI thread only.
class TensorView final : public QWidget {
    Q_OBJECT
public:
    enum class Tab { Values, Histogram, Image };

    explicit TensorView(QWidget* parent = nullptr);
    ~TensorView() override;

    /// Not owned; may be null. Answers of an earlier provider are ignored.
    void setProvider(TensorProvider* provider);
    /// Shows another tensor. The slice and the tab stay if the shape is the same.
    void showTensor(const TensorRef& tensor);
    TensorRef tensor() const;
    /// The run stopped elsewhere: fetch everything of the shown tensor again.
    void refresh();
    /// The values are no longer those of the run (it continues): greyed until the next showTensor
    /// or refresh.
    void setStale(bool stale);
    /// Nothing to show; `text` says what would fill the view and how (empty: the default text).
    void clear(const QString& text = {});

    void setTab(Tab tab);
    Tab tab() const;
    /// NumPy text of the slice shown, with two ranges: "0, 0, :, :".
    QString sliceText() const;
    /// False: the text does not fit the shape; the view says why and shows the old slice.
    bool setSliceText(const QString& text);

    /// Fetches the slice and writes it, a line a row; exportFinished() tells the end.
    void exportCsv(const QString& path);
    /// The picture of the tab in front. False: the file cannot be written, `error` says why.
    bool exportPng(const QString& path, QString* error = nullptr) const;
    static constexpr qint64 kMaxCsvElements = 4'000'000;

signals:
    /// The slice or tab was changed by the user.
    void viewChanged();
    /// error: one sentence, empty if the file was written.
    void exportFinished(const QString& path, const QString& error);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace tapescope::viewers
